/** A text that is there to be copied: one click chooses all of it, and a button copies it where script runs. */
export function Copied({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled, so the keyboard has to reach it
    <section class="copied" tabIndex={0} aria-label={label}>
      <pre data-copy>{text}</pre>
    </section>
  );
}
