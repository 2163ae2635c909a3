import { checkRules } from '../../src/reporting/checks/rules.ts';

const text = `# Checks across sources

Generated from the code by \`npm run docs\`.

Several sources report the same values: hours and days, the data service and the nodes, different nodes. \`up\` compares them once
an hour. Differences above the tolerance are stored in \`reporting.discrepancies\` with both values, the subject and the time, until
the two sides agree again, or one of them is no longer configured or no longer reported (\`ended_at\`). No value is corrected: the
recorded data keeps the values of both sides.

\`\`\`sql
select check_name, subject, at, left_source, left_value, right_source, right_value, relative_difference
from reporting.discrepancies where ended_at is null order by at desc;

select * from reporting.series_breaks order by broke_at desc;
\`\`\`

\`report discrepancies\` and \`report series-breaks\` show the same. \`status\`, \`doctor\`, \`/api/status\` and the gauge
\`chain_recorder_discrepancies\` report the number of open discrepancies. A discrepancy is no failure of the recorder and does not
change the exit code of \`status\`. If nothing was compared for three hours, or the comparison fails (\`reporting_internal.check_runs\`),
\`status\` exits with 1.

## What is compared

`;

const noise = `
The \`difference\` of values that are not numbers is null. Rows of \`block_ids\` and \`height_falls\` never end, because they
concern the past.

## Values that are not compared

- **Values that still change.** A metric is compared after the time within which 99 of 100 revisions of this metric and interval
  were made (\`reporting.metric_settling_of(null)\`), at least two days and at most 14, and after a request that followed this time.
- **Revisions that only one side has returned yet.** If a settled value changes, the other side must have been requested after
  the change. Hours older than 90 days are requested rarely; until then they are not compared.
- **Gaps.** A day with 23 of its 24 hours is compared only in one direction: the hours must not exceed the day. Points that the
  service no longer returns (\`vanished\`) are not compared.
- **The launch of a chain.** The first day has neither a rate nor a growth.
- **Nodes that lag**, or that have just started: both sides must have reported the same lists, weights and balances, and must have
  been requested, for the duration in the table. An address whose balance always changes is never compared. An incomplete list
  (\`freshness.incomplete_since\`) proves nothing about missing members.
- **Locked and staked amounts.** The balance of a node is compared with the amounts that the data service reports as unlocked,
  stakeable or locked on the P-chain, and as unlocked on the X-chain.

Data without a second source is not compared: fees with gas times price (their units are not documented), totals of networks with
their chains, rewards, and EVM balances, which are not requested from nodes.

## Level shifts

If a metric permanently has another level from a day on, this day is stored in \`reporting.series_breaks\`, with the levels before
and after. A possible cause is a change of the definition. The level of a week is its median day. Four weeks before are compared with
four weeks after, of which three must have data. A level shift requires that all weeks of one side lie beyond all weeks of the other
side, that most of the change happens from one week to the next, and that the change is more than a quarter and four times the
usual change of this metric from week to week (three times for changes of three quarters or more), without growth. So a wrong day,
an outage, weekends and growth are no level shifts. The numbers alone do not show the cause. Cumulative metrics have no level;
\`metric_falls\` and \`metric_growth\` check them.
`;

/** Renders the page about the checks across sources as Markdown. */
export function checksPage(): string {
  const rows = Object.entries(checkRules).map(
    ([name, { compares, tolerance }]) => `| \`${name}\` | ${compares} | ${tolerance} |`,
  );
  return `${text}| check | compared values | tolerance |\n| --- | --- | --- |\n${rows.join('\n')}\n${noise}`;
}
