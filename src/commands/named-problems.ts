import type { Config } from '../config/schema.ts';
import { secretProblems } from './alerting.ts';
import { sinkProblems } from './sending.ts';

/** What channels of alerts and sinks of changes name of the environment and is not sound, by its path in the file. */
export const namedProblems = ({ alerts, changes }: Pick<Config, 'alerts' | 'changes'>): string[] => [
  ...secretProblems(alerts),
  ...sinkProblems(changes),
];
