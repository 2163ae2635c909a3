import type { Config } from '../config/schema.ts';
import { secretProblems } from './alert-work.ts';
import { sinkProblems } from './change-sink-work.ts';

/**
 * Returns the problems of the secrets that alert channels and change sinks reference, with their paths in the
 * file.
 */
export const namedProblems = ({ alerts, changes }: Pick<Config, 'alerts' | 'changes'>): string[] => [
  ...secretProblems(alerts),
  ...sinkProblems(changes),
];
