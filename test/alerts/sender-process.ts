import { setTimeout as delay } from 'node:timers/promises';
import { deliver } from '../../src/alerts/deliver.ts';
import { runRound } from '../../src/alerts/round.ts';
import { scriptedRule, testAlerts } from '../support/alerts.ts';
import { ManualClock } from '../support/clock.ts';

/** Runs rounds over the subjects of `public.ill`, and sends their messages to its channels, until it is killed. */
const [url = '', config = ''] = process.argv.slice(2);
const clock = new ManualClock(Date.now());
const rule = scriptedRule();
const alerts = testAlerts(url, clock, JSON.parse(config), {
  rules: [rule],
  env: process.env,
  session: 'sender',
});
const never = new AbortController().signal;
for (;;) {
  clock.now += 30_000;
  const rows = await alerts.sql<{ subject: string }[]>`select subject from public.ill`;
  rule.result = rows.map(({ subject }) => subject);
  await runRound(alerts, never);
  await Promise.all(alerts.config.channels.map(({ name }) => deliver(alerts, name, never)));
  await delay(5);
}
