import type { App } from '../app.ts';
import { durationText } from '../duration.ts';
import { forecast } from '../reporting/forecast.ts';
import { printJson, printTable } from './output.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** `plan`: what the schedules ask in a round, an hour and a day once they have caught up, against the declared limits. */
export async function planCommand(app: App, options: { json: boolean }): Promise<void> {
  const schedules = await forecast(app.database.sql, app.feeds);
  const rows = schedules.map(({ datasets, upstream, targets, every, callsPerRound, unitsPerRound }) => ({
    datasets: datasets.join(', '),
    upstream,
    targets,
    every: durationText(every),
    calls_per_round: callsPerRound,
    units_per_round: unitsPerRound,
    calls_per_hour: rounded((callsPerRound * HOUR) / every),
    units_per_hour: rounded((unitsPerRound * HOUR) / every),
    calls_per_day: rounded((callsPerRound * DAY) / every),
    units_per_day: rounded((unitsPerRound * DAY) / every),
  }));
  const upstreams = (['chainData', 'metrics'] as const).flatMap((upstream) => {
    const service = app.config.upstreams[upstream];
    if (!service) return [];
    const of = (column: 'units_per_hour' | 'units_per_day') =>
      rounded(rows.filter((row) => row.upstream === upstream).reduce((sum, row) => sum + row[column], 0));
    const [daily, limit] = [of('units_per_day'), service.budget?.perDay ?? null];
    return [
      {
        upstream,
        units_per_hour: of('units_per_hour'),
        units_per_day: daily,
        limit_per_minute: service.budget?.perMinute ?? null,
        limit_per_day: limit,
        share_of_day: limit ? `${rounded((daily / limit) * 100)} %` : null,
      },
    ];
  });
  if (options.json) {
    printJson({ schedules: rows, upstreams });
    return;
  }
  printTable(rows, 'the configuration watches nothing');
  process.stdout.write('\n');
  printTable(upstreams, 'no upstream counts its calls');
}

const rounded = (value: number) => Math.round(value * 100) / 100;
