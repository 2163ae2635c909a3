import { useContext } from 'preact/hooks';
import { agoText, durationWords, momentText } from '../texts.ts';
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

/** Since when something is so: `for 3 h`, with the exact moment on demand. In a file `since` that moment. */
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
