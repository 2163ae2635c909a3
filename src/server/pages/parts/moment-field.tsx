import { fieldMoment } from '../texts.ts';

interface MomentFieldProps {
  readonly id: string;
  readonly name: string;
  /** An instant or a date; an empty text if there is none. */
  readonly value: string;
  /** True if the field is for a date. Default: an instant. */
  readonly day?: boolean;
  readonly required?: boolean;
  readonly 'aria-describedby'?: string;
}

/**
 * A form field for a moment in UTC, in ISO 8601 as in all texts. The island `moments` replaces the field with
 * the date control of the browser if that control also uses ISO 8601.
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
