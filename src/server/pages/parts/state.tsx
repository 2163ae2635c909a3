import type { ComponentChildren } from 'preact';

/**
 * Severity of a state. Each severity has a different symbol, so that users do not need to distinguish colors.
 */
export type Tone = 'good' | 'bad' | 'warn' | 'idle' | 'busy' | 'planned';

const TONES: Readonly<Record<string, Tone>> = {
  ...tonesOf('good', 'fresh', 'up', 'done', 'covered', 'empty', 'working', 'set', 'Next'),
  ...tonesOf('bad', 'down', 'failed', 'lost', 'failing', 'stalled', 'missing', 'gap', 'left', 'critical'),
  ...tonesOf('warn', 'partial', 'late', 'incomplete', 'outdated', 'open', 'changed', 'warning'),
  ...tonesOf('busy', 'running', 'Active'),
  ...tonesOf('planned', 'maintenance', 'added'),
};

function tonesOf(tone: Tone, ...states: readonly string[]): Record<string, Tone> {
  return Object.fromEntries(states.map((state) => [state, tone]));
}

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
