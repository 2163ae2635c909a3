import type { App } from '../app.ts';
import { durationText } from '../duration.ts';
import { forecast } from '../reporting/forecast.ts';
import { printJson, printTable } from './output.ts';

/** `plan`: what the schedules ask in a round, in the next hour and in the next day, against the declared limits. */
export async function planCommand(app: App, options: { json: boolean }): Promise<void> {
  const schedules = await forecast(app.database.sql, app.feeds, app.clock());
  const rows = schedules.map(({ datasets, upstream, targets, every, round, hour, day, sweepsOfDay }) => ({
    datasets: datasets.join(', '),
    upstream,
    targets,
    every: durationText(every),
    calls_per_round: round.calls,
    units_per_round: round.units,
    calls_per_hour: hour.calls,
    units_per_hour: hour.units,
    calls_per_day: day.calls,
    units_per_day: day.units,
    sweeps_per_day: sweepsOfDay,
  }));
  const upstreams = (['chainData', 'metrics'] as const).flatMap((upstream) => {
    const service = app.config.upstreams[upstream];
    if (!service) return [];
    const of = (column: 'units_per_hour' | 'units_per_day') =>
      rows.filter((row) => row.upstream === upstream).reduce((sum, row) => sum + row[column], 0);
    const [daily, limit] = [of('units_per_day'), service.budget?.perDay ?? null];
    return [
      {
        upstream,
        units_per_hour: of('units_per_hour'),
        units_per_day: daily,
        limit_per_minute: service.budget?.perMinute ?? null,
        limit_per_day: limit,
        share_of_day: limit ? `${Math.round((daily / limit) * 10_000) / 100} %` : null,
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
