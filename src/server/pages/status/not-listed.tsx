import { Fragment } from 'preact';
import { useContext } from 'preact/hooks';
import type { WatchedNode } from '../../../reports/nodes/watched-nodes.ts';
import { countText } from '../texts.ts';
import { CurrentLinks } from './links.ts';

/** The nodes that a page does not list, by how they are, each with a link to its own page. */
export function NotListed({ nodes }: { readonly nodes: readonly Pick<WatchedNode, 'node' | 'state'>[] }) {
  const links = useContext(CurrentLinks);
  const states = new Map<WatchedNode['state'], string[]>();
  for (const { node, state } of nodes) {
    const names = states.get(state);
    if (names) names.push(node);
    else states.set(state, [node]);
  }
  return (
    <details>
      <summary>{`${countText(nodes.length, 'more node')}: ${[...states]
        .map(([state, names]) => `${names.length} ${wordsOf(state)}`)
        .join(', ')}`}</summary>
      {[...states].map(([state, names]) => (
        <p key={state}>
          {`${wordsOf(state)}: `}
          {names.map((name) => (
            <Fragment key={name}>
              <a href={links.node(name)}>{name}</a>{' '}
            </Fragment>
          ))}
        </p>
      ))}
    </details>
  );
}

const wordsOf = (state: WatchedNode['state']) => (state === 'unrecorded' ? 'no record yet' : state);
