import { useContext } from 'preact/hooks';
import { agoText, durationWords, momentText } from '../texts.ts';
import { CurrentView } from '../view.ts';

/**
 * A moment, either relative to now with the exact moment as tooltip, or exact. Moments in files are always
 * exact, because a file may be read at any later time.
 * @param at the moment; null if there is none
 * @param none text for null
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

/**
 * The duration of a state, such as `for 3 h`, with the exact start as tooltip. In a file: `since` and the
 * start.
 */
export function Lasting({ since }: { readonly since: Date }) {
  const { now, file } = useContext(CurrentView);
  if (file)
    return (
      <>
        since <Time at={since} exact />
      </>
    );
  return (
    <>
      for{' '}
      <time dateTime={since.toISOString()} title={`since ${momentText(since)} UTC`}>
        {durationWords((now - since.getTime()) / 1000)}
      </time>
    </>
  );
}
