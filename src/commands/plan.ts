import type { Config } from '../config/schema.ts';
import type { ActiveFeed } from '../recording/feed.ts';
import { durationText } from './datasets.ts';
import { printJson, printTable } from './output.ts';

const HOUR = 3_600_000;

/** `plan`: what the schedules would ask in an hour and a day once they have caught up, against the declared limits. */
export function planCommand(feeds: readonly ActiveFeed[], config: Config, options: { json: boolean }): void {
  const rows = feeds
    .filter(({ targets }) => targets.length > 0)
    .map(({ source, datasets, targets, every }) => {
      const hourly = targets.length * source.calls * (HOUR / every);
      return {
        datasets: datasets.map(({ name }) => name).join(', '),
        upstream: source.upstream,
        targets: targets.length,
        every: durationText(every),
        calls_per_hour: round(hourly),
        units_per_hour: round(hourly * source.weight),
        calls_per_day: round(hourly * 24),
        units_per_day: round(hourly * 24 * source.weight),
      };
    });
  const upstreams = ['chainData', 'metrics'].flatMap((name) => {
    const service = name === 'chainData' ? config.upstreams.chainData : config.upstreams.metrics;
    if (!service) return [];
    const daily = rows
      .filter(({ upstream }) => upstream === name)
      .reduce((sum, row) => sum + row.units_per_day, 0);
    const limit = service.budget?.perDay ?? null;
    return [
      {
        upstream: name,
        units_per_day: round(daily),
        limit_per_day: limit,
        share: limit ? `${round((daily / limit) * 100)} %` : null,
      },
    ];
  });
  if (options.json) return printJson({ schedules: rows, upstreams });
  printTable(rows, 'the configuration watches nothing');
  process.stdout.write('\n');
  printTable(upstreams, 'no upstream counts its calls');
}

const round = (value: number) => Math.round(value * 100) / 100;
