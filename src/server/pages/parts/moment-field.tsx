import { fieldMoment } from '../texts.ts';

interface MomentFieldProps {
  readonly id: string;
  readonly name: string;
  /** An instant, or a date; empty for none. */
  readonly value: string;
  /** True: the field holds a day. */
  readonly day?: boolean;
  readonly required?: boolean;
  readonly 'aria-describedby'?: string;
}

/**
 * A form field for a moment in UTC, in ISO 8601 like every printed moment. The island `moments` replaces it by
 * the browser's own control if the browser writes dates in this form.
 */
export function MomentField({ value, day = false, ...named }: MomentFieldProps) {
  return (
    <input
      {...named}
      value={day ? value : fieldMoment(value)}
      placeholder={day ? '2026-12-01' : '2026-12-01 12:00'}
      size={day ? 11 : 27} // as long as a moment with its microseconds
      data-control={day ? 'date' : 'datetime-local'}
      autocomplete="off"
      spellcheck={false}
    />
  );
}
