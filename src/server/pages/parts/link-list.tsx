import type { ComponentChildren } from 'preact';

export interface ListedLink {
  readonly href: string;
  readonly label: ComponentChildren;
  /** Description, displayed on demand. */
  readonly about?: string | undefined;
  /** Set for the link of the current page, or of the current choice. */
  readonly current?: 'page' | 'true' | false;
}

/** A list of links. */
export function LinkList({
  links,
  ...list
}: {
  readonly links: readonly ListedLink[];
  readonly class?: string;
  readonly 'aria-label'?: string;
}) {
  return (
    <ul {...list}>
      {links.map(({ href, label, about, current = false }) => (
        <li>
          <a href={href} title={about} aria-current={current || undefined}>
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}
