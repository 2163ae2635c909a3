import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { State } from '../parts/state.tsx';
import { CurrentView } from '../view.ts';

/** What nobody has looked at for so long, ms, may not be so any more. */
const LATELY = 60_000;

/** A state that somebody wrote down. @param at when it was looked at */
export function Seen({ at, children }: { readonly at: Date; readonly children: ComponentChildren }) {
  const { now } = useContext(CurrentView);
  if (now - at.getTime() > LATELY) return <State is="unknown">nobody looked lately</State>;
  return <>{children}</>;
}
