import type { Declared, DeclaredColumn } from '../db/declared.ts';

const VIEW =
  /^(?:--.*\n)*create or replace view reporting\.(?<name>\w+) as\n(?<body>[\s\S]+?);\n\n(?<comments>comment on view [\s\S]+)$/;
const FUNCTION =
  /^(?:--.*\n)*create or replace function reporting\.(?<name>\w+)\((?<parameters>.*)\)\nreturns table \(\n(?<returned>[\s\S]+?)\n\)\nlanguage sql stable parallel safe as \$\$\n(?<body>[\s\S]+?)\n\$\$;\n\n(?<comments>comment on function [\s\S]+)$/;
const COMMENT = /^comment on (?:view|function) reporting\.(?<name>\w+) is '(?<text>(?:[^']|'')+)';$/;
const COLUMN =
  /^comment on column reporting\.(?<object>\w+)\.(?<name>\w+) is '(?<text>(?:[^']|'')+)'; -- (?<type>.+)$/;
const RETURNED = /^ {2}(?<name>\w+) (?<type>[\w[\] ]+?),? -- (?<text>.+)$/;

/**
 * Reads the declaration of one object from a file that psql runs as it is. In this form:
 *
 * - a view: `create or replace view reporting.NAME as`, its query, its comment, and a line
 *   `comment on column reporting.NAME.COLUMN is '…'; -- TYPE` for each column;
 * - a function: `create or replace function reporting.NAME(…)`, `returns table (` with a line `COLUMN TYPE, -- COMMENT`
 *   for each column, `language sql stable parallel safe as $$`, its query, `$$;` and its comment.
 *
 * @param file the name for errors; @param text its content
 * @throws Error when the text has another form
 */
export function readSqlFile(file: string, text: string): Declared {
  const refuse = (what: string) => new Error(`${file}: ${what}; see readSqlFile for the form`);
  const view = VIEW.exec(text)?.groups;
  const groups = view ?? FUNCTION.exec(text)?.groups;
  if (!groups) throw refuse('neither a view nor a function in the form that is read');
  const { name = '', body = '', comments = '', parameters = '', returned = '' } = groups;
  const [first = '', ...others] = comments.trimEnd().split('\n');
  const comment = COMMENT.exec(first)?.groups;
  if (comment?.name !== name) throw refuse(`not the comment of ${name}: ${first}`);
  const column = (pattern: RegExp, line: string): DeclaredColumn => {
    const found = pattern.exec(line)?.groups;
    if (!found || (found.object ?? name) !== name) throw refuse(`no column of ${name}: ${line}`);
    return { name: found.name ?? '', type: found.type ?? '', comment: unquoted(found.text ?? '') };
  };
  const base = { name, comment: unquoted(comment.text ?? ''), body };
  if (view) return { ...base, kind: 'view', columns: others.map((line) => column(COLUMN, line)) };
  if (others.length > 0) throw refuse(`more than the comment of ${name}: ${others[0]}`);
  const columns = returned.split('\n').map((line) => column(RETURNED, line));
  return { ...base, kind: 'function', parameters: parameters.split(', '), columns };
}

const unquoted = (text: string) => text.replaceAll("''", "'");
