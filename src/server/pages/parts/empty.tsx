import type { ComponentChildren } from 'preact';

/** A notice in place of missing content. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
