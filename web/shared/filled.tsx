// A text with parts of the page in it, such as a name. The text decides their order, because languages differ.
import { type ComponentChildren, Fragment, type JSX } from 'preact'

/** Each part replaces its name in braces. */
export function Filled({
  text,
  parts,
}: {
  readonly text: string
  readonly parts: Readonly<Record<string, ComponentChildren>>
}): JSX.Element {
  // Splitting by a group puts each name between two texts.
  return (
    <>
      {text
        .split(/\{(\w+)\}/)
        .map((piece, at) => (at % 2 === 0 ? piece : <Fragment key={piece}>{parts[piece]}</Fragment>))}
    </>
  )
}
