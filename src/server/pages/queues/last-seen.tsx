import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { State } from '../parts/state.tsx';
import { CurrentView } from '../view.ts';

/** What nobody has looked at for so long, ms, may not be so any more. */
const LATELY = 60_000;

/** Whether what was looked at then counts as so. @param now ms since 1970 */
export const isLately = (at: Date, now: number): boolean => now - at.getTime() <= LATELY;

/** A state that somebody wrote down. @param at when it was looked at */
export function Seen({ at, children }: { readonly at: Date; readonly children: ComponentChildren }) {
  const { now } = useContext(CurrentView);
  if (!isLately(at, now)) return <State is="unknown">nobody looked lately</State>;
  return <>{children}</>;
}
