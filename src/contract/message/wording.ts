// The type of texts for people. Only a catalogue of `src/words` makes them, so a literal cannot reach a person by mistake.

declare const fromCatalogue: unique symbol

/** A text for a person, in the language of the catalogue that made it. */
export type Wording = string & { readonly [fromCatalogue]: true }
