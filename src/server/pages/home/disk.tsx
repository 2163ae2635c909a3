import { useContext } from 'preact/hooks';
import { type DiskUse, fullAt } from '../../../reporting/reports/disk.ts';
import { Meter } from '../parts/meter.tsx';
import { bytesText, durationWords } from '../texts.ts';
import { CurrentView } from '../view.ts';

/** The disk usage of the record, and when the disk will be full. */
export function Disk({ use, embedded }: { readonly use: DiskUse; readonly embedded: boolean }) {
  const { database, largest, perDay, free } = use;
  const { now } = useContext(CurrentView);
  const full = fullAt(use, now);
  const share = free === null ? null : database / (database + free);
  return (
    <section class="panel" aria-labelledby="disk">
      <h2 id="disk">Disk usage</h2>
      <p class="head">
        <span>
          <strong>{bytesText(database)}</strong> recorded
        </span>
        <span class="soft">{free === null ? '' : `${bytesText(free)} free`}</span>
      </p>
      {share !== null && (
        <Meter
          share={share}
          tone={share > 0.9 ? 'bad' : 'busy'}
          label={`${Math.round(share * 100)} % of the space is taken`}
        />
      )}
      <p class="soft small">
        {perDay === null
          ? 'The growth per day is shown after three sealed days.'
          : `It grows by ${bytesText(perDay)} a day. `}
        {perDay !== null && full !== null && `The disk is full in ${durationWords((full - now) / 1000)}.`}
        {free === null && !embedded && ' What is free there, only the machine of the database knows.'}
      </p>
      <ol class="shares">
        {largest
          .filter(({ bytes }) => bytes > 0)
          .map(({ dataset, bytes }) => (
            <li key={dataset}>
              <code>{dataset}</code> <span class="number">{bytesText(bytes)}</span>
            </li>
          ))}
      </ol>
    </section>
  );
}
