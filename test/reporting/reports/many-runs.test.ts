import { pino } from 'pino';
import { expect } from 'vitest';
import { subnets } from '../../../src/datasets/chain-data/subnets.ts';
import { diskUse } from '../../../src/reporting/reports/disk.ts';
import { forecast } from '../../../src/reporting/reports/forecast.ts';
import { statusOf } from '../../../src/reporting/reports/status.ts';
import { Watchdog } from '../../../src/reporting/reports/watchdog.ts';
import { metricParts, metricsOf } from '../../../src/server/metrics/metrics.ts';
import { ProcessCounts } from '../../../src/server/metrics/process-counts.ts';
import { recordingSamples } from '../../../src/server/metrics/recorder-metrics.ts';
import { exposition } from '../../../src/server/metrics/samples.ts';
import { withDatabase } from '../../support/fixture.ts';
import { scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase({ max: 5, connection: { statement_timeout: 5_000 } });

/** Whether each part of the metrics was readable. */
const PARTS = /^chain_recorder_scrape_collector_success\{.*\} (\d)$/gm;

it('reports the state of the recording without reading runs, however many there are', async () => {
  const feed = scriptedFeed(subnets, { network: 'mainnet' });
  await sql.begin(async (tx) => {
    await tx`lock table recorder.runs, recorder.run_days in access exclusive mode`;
    const status = await statusOf(sql, []);
    expect(exposition(recordingSamples(status))).toContain('chain_recorder_late_targets 0');
    const disk = () => diskUse(sql, null);
    const upstreams = { nodes: [] };
    const sources = {
      sql,
      status: async () => status,
      disk,
      budgets: [],
      upstreams,
      counts: new ProcessCounts(),
    };
    const parts = [
      ...(await metricsOf(sources, (answer) => answer, { warn: () => {} }).read()).matchAll(PARTS),
    ];
    expect(parts.map(([, read]) => read)).toEqual(metricParts.map(() => '1'));
    await new Watchdog(sql, pino({ level: 'silent' }), () => 0).checkFindings();
    await sql`select dataset, sum(rows_written) from reporting.freshness group by dataset`;
    await sql`select * from reporting_internal.coverage_states`;
    await forecast(sql, [feed], Date.now());
    await expect(sql`select from recorder.runs limit 1`).rejects.toThrow('statement timeout');
  });
});
