import type { Config } from '../config/schema.ts';
import { secretProblems } from './alert-work.ts';
import { sinkProblems } from './change-sink-work.ts';

/** What channels of alerts and sinks of changes name of the environment and is not sound, by its path in the file. */
export const namedProblems = ({ alerts, changes }: Pick<Config, 'alerts' | 'changes'>): string[] => [
  ...secretProblems(alerts),
  ...sinkProblems(changes),
];
