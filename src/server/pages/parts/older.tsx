/** The way to the rows that come after the last one shown; nothing where there are none. */
export function Older({ href, label = 'Older' }: { readonly href: string | null; readonly label?: string }) {
  if (href === null) return null;
  return (
    <nav class="pager" aria-label="More rows">
      <a class="button plain" href={href} rel="next">
        {label}
      </a>
    </nav>
  );
}
