import { useContext } from 'preact/hooks';
import { agoText, momentText } from '../texts.ts';
import { CurrentView } from '../view.ts';

/**
 * A moment. Told relative to now, with the exact moment on demand, or exact. A file is read at any time: there it is exact.
 * @param at null: there is none
 * @param none what is told then
 */
export function Time({
  at,
  exact = false,
  none = '–',
}: {
  readonly at: Date | null;
  readonly exact?: boolean;
  readonly none?: string;
}) {
  const { now, file } = useContext(CurrentView);
  if (!at) return <>{none}</>;
  return (
    <time dateTime={at.toISOString()} title={`${momentText(at)} UTC`}>
      {exact || file ? momentText(at) : agoText(at.getTime(), now)}
    </time>
  );
}
