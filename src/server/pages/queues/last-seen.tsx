import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { StateBadge } from '../parts/state.tsx';
import { CurrentView } from '../view.ts';

/** Age from which an observed state is outdated, in ms. */
const MAX_OBSERVATION_AGE_MS = 60_000;

/**
 * Returns whether an observation is recent enough.
 * @param now ms since 1970
 */
export const isRecentObservation = (at: Date, now: number): boolean =>
  now - at.getTime() <= MAX_OBSERVATION_AGE_MS;

/**
 * A state stored by another process.
 * @param at time of the observation
 */
export function ObservedState({ at, children }: { readonly at: Date; readonly children: ComponentChildren }) {
  const { now } = useContext(CurrentView);
  if (!isRecentObservation(at, now)) return <StateBadge is="unknown">not checked recently</StateBadge>;
  return <>{children}</>;
}
