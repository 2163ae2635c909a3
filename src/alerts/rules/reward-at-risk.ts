import { networkViews } from '../../reporting/reports/rewards.ts';
import type { AlertRule } from '../rule.ts';

/** Fires when little downtime is left until a validation of a configured node misses its reward. */
export const rewardAtRisk: AlertRule = {
  name: 'reward-at-risk',
  about:
    'A validation of a configured node is close to losing its reward: little downtime remains, as observed by at least one node.',
  severity: 'warning',
  for: 0,
  every: 300_000,
  limits: { minutes: 1440 },
  needs: ['node_identity', 'validators', 'validator_uptime'],
  dependsOn: ({ subject }) => subject.split(' ').slice(0, 1),
  evaluate: async ({ sql, at, limits, facts }) => {
    const { validations } = await networkViews(sql, facts.rewards, at.toISOString());
    const least = new Map<string, (typeof validations)[number]>();
    for (const view of validations) {
      const left = view.downtime_left_minutes;
      const key = `${view.node} ${view.start_time.toISOString()}`;
      if (left === null || view.end_time <= at || left > limits.minutes) continue;
      if (left < (least.get(key)?.downtime_left_minutes ?? Number.POSITIVE_INFINITY)) least.set(key, view);
    }
    return [...least].map(([subject, view]) => {
      const left = view.downtime_left_minutes ?? 0;
      return {
        subject,
        severity: left <= 0 ? 'critical' : undefined,
        summary:
          left <= 0
            ? `${view.node} is below the ${view.threshold_percent} % that its reward needs, and cannot reach it any more, as ${view.seen_by} sees it (${view.uptime_percent} %)`
            : `${view.node} may be down for ${left} minutes more until its reward is missed, as ${view.seen_by} sees it (${view.uptime_percent} %, ${view.threshold_percent} % are needed)`,
        since: null,
        details: { downtime_left_minutes: left, seen_by: view.seen_by, end_time: view.end_time },
      };
    });
  },
};
