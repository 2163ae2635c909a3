/** Gives each text that is there to be copied (`data-copy`) a button that does so. */
for (const text of document.querySelectorAll<HTMLElement>('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(text.textContent).then(
      () => {
        button.textContent = 'Copied';
      },
      // Without the right to write there, the text is at least chosen.
      () => getSelection()?.selectAllChildren(text),
    );
  });
  text.after(button);
}
