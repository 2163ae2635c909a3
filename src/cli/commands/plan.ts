import type { App } from '../../app/app.ts';
import type { Database } from '../../db/client.ts';
import { formatDuration } from '../../lib/duration.ts';
import { printJson, printNotice, printTable } from '../../lib/print.ts';
import { beyondBudget, demands } from '../../reporting/reports/call-demand.ts';
import { forecast } from '../../reporting/reports/forecast.ts';

/** Parts of the application that `plan` reads. */
type PlannedApp = Pick<App, 'watched' | 'clock' | 'config'> & { readonly database: Pick<Database, 'sql'> };

/** Command `plan`: prints the requests of the schedules per round, hour and day, and the declared limits. */
export async function planCommand(app: PlannedApp, options: { json: boolean }): Promise<void> {
  const schedules = await forecast(app.database.sql, app.watched, app.clock());
  const rows = schedules.map(
    ({ datasets, upstream, targets, every, round, hour, day, sweepsOfDay, backlog }) => ({
      datasets: datasets.join(', '),
      upstream,
      targets,
      every: formatDuration(every),
      calls_per_round: round.calls,
      units_per_round: round.units,
      calls_per_hour: hour.calls,
      units_per_hour: hour.units,
      calls_per_day: day.calls,
      units_per_day: day.units,
      sweeps_per_day: sweepsOfDay,
      calls_behind: backlog ?? 'unknown',
    }),
  );
  const upstreamDemands = demands(schedules, app.config);
  const upstreams = upstreamDemands.map(
    ({ upstream, unitsPerHour, unitsPerDay, limitPerMinute, limitPerDay }) => ({
      upstream,
      units_per_hour: unitsPerHour,
      units_per_day: unitsPerDay,
      limit_per_minute: limitPerMinute,
      limit_per_day: limitPerDay,
      share_of_day: limitPerDay ? `${Math.round((unitsPerDay / limitPerDay) * 10_000) / 100} %` : null,
    }),
  );
  const beyond = upstreamDemands.flatMap((demand) => beyondBudget(demand) ?? []);
  if (options.json) {
    printJson({ schedules: rows, upstreams, beyond_budget: beyond });
    return;
  }
  printTable(rows, 'the configuration watches nothing');
  process.stdout.write('\n');
  printTable(upstreams, 'no upstream has a request budget');
  for (const line of beyond) printNotice(line);
}
