import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { StateBadge } from '../parts/state.tsx';
import { CurrentView } from '../view.ts';

/** Maximum age of an observed state, in ms. Older states are outdated. */
const MAX_OBSERVATION_AGE_MS = 60_000;

/**
 * Returns whether an observation is recent enough.
 * @param now ms since 1970
 */
export const isRecentObservation = (at: Date, now: number): boolean =>
  now - at.getTime() <= MAX_OBSERVATION_AGE_MS;

/**
 * A state that another process stored, or a notice if the state is outdated.
 * @param at time of the observation
 */
export function ObservedState({ at, children }: { readonly at: Date; readonly children: ComponentChildren }) {
  const { now } = useContext(CurrentView);
  if (!isRecentObservation(at, now)) return <StateBadge is="unknown">not checked recently</StateBadge>;
  return <>{children}</>;
}
