import type { Config } from '../config/schema.ts';
import { checkAlertSecrets } from './alert-work.ts';
import { checkSinkSecrets } from './change-sink-work.ts';

/**
 * Returns the problems of the secrets that alert channels and change sinks reference, with their paths in the
 * file.
 */
export const checkReferencedSecrets = ({ alerts, changes }: Pick<Config, 'alerts' | 'changes'>): string[] => [
  ...checkAlertSecrets(alerts),
  ...checkSinkSecrets(changes),
];
