import type { ComponentChildren } from 'preact';

/** What is told where there is nothing to show. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
