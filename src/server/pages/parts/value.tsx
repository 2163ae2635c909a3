import type { Value } from '../../../reporting/relations/values.ts';

/** PostgreSQL's types of numbers: aligned to the right. */
const NUMBERS: ReadonlySet<string> = new Set(['numeric', 'bigint', 'integer', 'double precision']);

/** How a column of a type stands in a table; undefined: short texts. */
export const columnKind = (type: string): 'number' | undefined => (NUMBERS.has(type) ? 'number' : undefined);

/** What is longer is shortened where it stands; the whole is still there to be copied. */
const LONG = 22;
const TAIL = 6;

/** A recorded value, exact, as people read it. @param type PostgreSQL's type of the column */
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

/** Digits in groups of three. The space between them is drawn, so that a copy is the plain number. */
function Digits({ of }: { readonly of: string }) {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d{5,})(\.\d+)?$/.exec(of) ?? [];
  if (whole === '') return <>{of}</>;
  const groups = whole.split(/(?=(?:\d{3})+$)/);
  return (
    <span class="digits">
      {groups.map((group, at) => (
        <span key={at}>
          {at === 0 ? sign : ''}
          {group}
          {at === groups.length - 1 ? rest : ''}
        </span>
      ))}
    </span>
  );
}

/** A moment of the record, to the second; all of its digits on demand. @param text ISO 8601 */
function Moment({ text }: { readonly text: string }) {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)/.exec(text) ?? [];
  if (day === undefined || time === undefined) return <>{text}</>;
  return (
    <time dateTime={text} title={text}>
      {day} <span class={time === '00:00:00' ? 'soft' : undefined}>{time.replace(/:00$/, '')}</span>
    </time>
  );
}

/** A text. The middle of a long id is hidden by the styles alone, so that a copy is the whole. */
function Text({ of }: { readonly of: string }) {
  if (of.length <= LONG) return <>{of === '' ? <span class="none">“”</span> : of}</>;
  if (/\s/.test(of))
    return (
      <span class="long" title={of}>
        {of}
      </span>
    );
  return (
    <span class="id" title={of}>
      <span>{of.slice(0, -TAIL)}</span>
      <span>{of.slice(-TAIL)}</span>
    </span>
  );
}

/** A list or an object: short ones as they are, others on demand. */
function Json({ value }: { readonly value: Value }) {
  const text = JSON.stringify(value);
  if (text.length <= LONG) return <code>{text}</code>;
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
