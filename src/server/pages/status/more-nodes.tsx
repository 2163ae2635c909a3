import { useContext } from 'preact/hooks';
import type { WatchedNode } from '../../../reporting/reports/nodes/watched-nodes.ts';
import { countText, numberText } from '../texts.ts';
import { CurrentLinks } from './links.ts';

/** Maximum number of linked nodes. Each link takes 70 bytes or more. */
const MAX_LINKED_NODES = 1_000;

/**
 * The nodes that a page does not list, by state. The first {@link MAX_LINKED_NODES} have links to their
 * pages.
 */
export function NotListed({ nodes }: { readonly nodes: readonly Pick<WatchedNode, 'node' | 'state'>[] }) {
  const links = useContext(CurrentLinks);
  const states = new Map<WatchedNode['state'], { count: number; linked: string[] }>();
  for (const [at, { node, state }] of nodes.entries()) {
    const known = states.get(state) ?? { count: 0, linked: [] };
    states.set(state, known);
    known.count += 1;
    if (at < MAX_LINKED_NODES) known.linked.push(node);
  }
  return (
    <details id="not-listed">
      <summary>{`${countText(nodes.length, 'more node')}: ${[...states]
        .map(([state, { count }]) => `${numberText(count)} ${wordsOf(state)}`)
        .join(', ')}`}</summary>
      {[...states].map(([state, { count, linked }]) => (
        <p>
          {`${wordsOf(state)}: `}
          {linked.map((name) => (
            <>
              <a href={links.node(name)}>{name}</a>{' '}
            </>
          ))}
          {count > linked.length &&
            `${linked.length > 0 ? 'and ' : ''}${numberText(count - linked.length)} without a link: open the page of a node by its name`}
        </p>
      ))}
    </details>
  );
}

const wordsOf = (state: WatchedNode['state']) => (state === 'unrecorded' ? 'no record yet' : state);
