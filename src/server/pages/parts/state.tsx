import type { ComponentChildren } from 'preact';

/**
 * Severity of a state. Each severity has a different symbol, so that users do not need to distinguish colors.
 */
export type Tone = 'good' | 'bad' | 'warn' | 'idle' | 'busy' | 'planned';

const TONES: Readonly<Record<string, Tone>> = {
  fresh: 'good',
  up: 'good',
  down: 'bad',
  unknown: 'idle',
  maintenance: 'planned',
  done: 'good',
  running: 'busy',
  partial: 'warn',
  stopped: 'idle',
  failed: 'bad',
  lost: 'bad',
  unsupported: 'idle',
  covered: 'good',
  empty: 'good',
  late: 'warn',
  failing: 'bad',
  incomplete: 'warn',
  due: 'idle',
  waiting: 'idle',
  outdated: 'warn',
  stalled: 'bad',
};

/**
 * A state with the symbol of its severity.
 * @param tone Default: the severity of the state; idle for unknown states
 */
export function StateBadge({
  is,
  tone = TONES[is] ?? 'idle',
  children = is,
}: {
  readonly is: string;
  readonly tone?: Tone;
  readonly children?: ComponentChildren;
}) {
  return <span class={`state ${tone}`}>{children}</span>;
}
