import type { Value } from '../../../reporting/relations/values.ts';

/** PostgreSQL's numeric types, which are aligned to the right. */
const NUMBERS: ReadonlySet<string> = new Set(['numeric', 'bigint', 'integer', 'double precision']);

/** Returns the kind of table column for a type; undefined for short texts. */
export const columnKind = (type: string): 'number' | undefined => (NUMBERS.has(type) ? 'number' : undefined);

/**
 * Maximum length of a displayed text, in characters; the middle of longer ids is hidden. The whole text can
 * still be copied.
 */
const MAX_TEXT_CHARACTERS = 22;
/** Number of displayed characters at the end of a longer id. */
const TAIL_CHARACTERS = 6;

/**
 * An exact recorded value, formatted for people.
 * @param type PostgreSQL type of the column
 */
export function ValueText({ type, value }: { readonly type: string; readonly value: Value }) {
  if (value === null)
    return (
      <span class="none" title="null">
        –
      </span>
    );
  if (typeof value === 'object') return <Json value={value} />;
  if (type === 'timestamptz') return <Moment text={String(value)} />;
  if (NUMBERS.has(type)) return <Digits of={String(value)} />;
  return <Text of={String(value)} />;
}

/** Digits in groups of three. The space between the groups is a style, so that the plain number is copied. */
function Digits({ of }: { readonly of: string }) {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d{5,})(\.\d+)?$/.exec(of) ?? [];
  if (whole === '') return <>{of}</>;
  const groups = whole.split(/(?=(?:\d{3})+$)/);
  return (
    <span class="digits">
      {groups.map((group, at) => (
        <span>
          {at === 0 ? sign : ''}
          {group}
          {at === groups.length - 1 ? rest : ''}
        </span>
      ))}
    </span>
  );
}

/**
 * A recorded time, displayed to the second. The tooltip has the whole fraction.
 * @param text ISO 8601
 */
function Moment({ text }: { readonly text: string }) {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)/.exec(text) ?? [];
  if (day === undefined || time === undefined) return <>{text}</>;
  return (
    <time dateTime={text} title={text}>
      {day} <span class={time === '00:00:00' ? 'soft' : undefined}>{time.replace(/:00$/, '')}</span>
    </time>
  );
}

/** A text. The middle of a long id is hidden by styles only, so that the whole id is copied. */
function Text({ of }: { readonly of: string }) {
  if (of.length <= MAX_TEXT_CHARACTERS) return <>{of === '' ? <span class="none">“”</span> : of}</>;
  if (/\s/.test(of))
    return (
      <span class="long" title={of}>
        {of}
      </span>
    );
  return (
    <span class="id" title={of}>
      <span>{of.slice(0, -TAIL_CHARACTERS)}</span>
      <span>{of.slice(-TAIL_CHARACTERS)}</span>
    </span>
  );
}

/** An array or an object. Short values are displayed inline, longer values on demand. */
function Json({ value }: { readonly value: Value }) {
  const text = JSON.stringify(value);
  if (text.length <= MAX_TEXT_CHARACTERS) return <code>{text}</code>;
  const count = Array.isArray(value) ? value.length : Object.keys(value ?? {}).length;
  return (
    <details class="json">
      <summary>
        {count} {Array.isArray(value) ? 'in the list' : count === 1 ? 'field' : 'fields'}
      </summary>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}
