// A text with a part of the page in the middle, such as a name. The text decides the order, because languages differ.
import type { ComponentChildren, JSX } from 'preact'

/** `children` replaces the name in braces. */
export function Filled({
  text,
  children,
}: {
  readonly text: string
  readonly children: ComponentChildren
}): JSX.Element {
  const [before, after] = text.split(/\{\w+\}/, 2)
  return (
    <>
      {before}
      {children}
      {after}
    </>
  )
}
