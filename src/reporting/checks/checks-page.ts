import { rules } from './rules.ts';

const text = `# Checks across sources

Generated from the code by \`npm run docs\`.

Different sources say the same things: hours and days, the data service and the nodes, one node and another. Once an hour
\`up\` compares them, and what disagrees is stored in \`reporting.discrepancies\` with both values, its subject and its time, until
the two sides agree again (\`ended_at\`). Nothing is corrected: the record keeps what each side said.

\`\`\`sql
select check_name, subject, at, left_source, left_value, right_source, right_value, relative_difference
from reporting.discrepancies where ended_at is null order by at desc;

select * from reporting.series_breaks order by broke_at desc;
\`\`\`

\`report discrepancies\` and \`report series-breaks\` show the same. \`status\`, \`doctor\`, \`/api/status\` and the gauge
\`chain_recorder_discrepancies\` tell how many stand; that is no failure of the recorder, and no reason for \`status\` to exit
with 1. That nothing was compared for three hours, or cannot be (\`reporting.check_runs\`), is one.

## What is compared

`;

const noise = `
Values that are no numbers have no \`difference\`. A row of \`block_ids\` and \`height_falls\` never ends: it was said.

## What is no discrepancy

- **A point that still moves.** A metric is compared once its bucket ended so long ago as 99 of 100 revisions of that metric
  and interval took (\`reporting.metric_settling_of(null)\`), at least two days and at most 14, and was requested after that.
- **A revision that only one side has shown yet.** Where a settled point moved all the same, the other side must have been
  asked after it moved. Hours older than 90 days are requested rarely; until then nothing is concluded.
- **A gap.** A day with 23 of its 24 hours is compared only so far: the hours may not be more than the day. A point that the
  service does not show now (\`vanished\`) is not compared.
- **A launch.** The first day of a chain has no rate, and no growth.
- **A node that lags**, or that has just started: lists, weights and balances must have stood on both sides, and have been asked
  for, for the time that the table says. An address that moves all the time is never compared. A list that is not whole
  (\`freshness.incomplete_since\`) says nothing about who is not on it.
- **Locked and staked amounts.** A node's balance is held against what the data service calls unlocked, stakeable or locked on
  the P-chain, and unlocked on the X-chain.

What a source does not show is not compared: fees against gas times price (their units are not documented), totals of networks
against their chains, rewards, and EVM balances, for which no node is asked.

## Changes of level

A day from which on a metric is on another level for good is stored in \`reporting.series_breaks\`, with the level before and
after: what is counted may have changed. The level of a week is its median day. Four weeks before are held against four weeks
after, of which three have to be there: all of the one lie beyond all of the other; most of the change happens from one week to
the next; and it is more than a quarter, and four times (from three quarters on three times) what this metric moves from week
to week anyway, growth removed. So a wrong day, an outage, weekends and growth are none. Whether people or definitions
changed, numbers alone do not say: a cause that is known elsewhere should be looked for. Cumulative metrics have no level; what
they show is checked by \`metric_falls\` and \`metric_growth\`.
`;

/** Renders the page about the checks across sources as Markdown. */
export function checksPage(): string {
  const rows = Object.entries(rules).map(
    ([name, { compares, tolerance }]) => `| \`${name}\` | ${compares} | ${tolerance} |`,
  );
  return `${text}| check | compares | tolerates |\n| --- | --- | --- |\n${rows.join('\n')}\n${noise}`;
}
