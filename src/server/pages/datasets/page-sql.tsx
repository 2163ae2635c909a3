import { queryLink } from '../query/link.ts';
import { MAX_STATEMENT_CHARACTERS } from '../query/question.ts';
import { CopyableText } from './copy-button.tsx';

/** The SQL of a page, to copy it or to change it on the query page. */
export function PageSql({ sql }: { readonly sql: string }) {
  return (
    <details id="sql">
      <summary>The SQL of this page</summary>
      <CopyableText text={sql} label="SQL of this page" />
      <p class="soft">
        Run it as <code>recorder_reader</code>: chain-recorder query &quot;…&quot;, or psql.{' '}
        {sql.length <= MAX_STATEMENT_CHARACTERS && <a href={queryLink({ sql })}>Open it on the query page</a>}
      </p>
    </details>
  );
}
