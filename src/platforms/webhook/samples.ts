// Samples by recipe: events as the documentation of each sender shows them, shortened and with names replaced.
// `hooks test` sends them, and tests read them. They hold no proof: it is made when a sample is sent.
import type { RecipeName } from './recipes/index.ts'
import samples from './samples.json' with { type: 'json' }

interface Sample {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

type Samples = Readonly<Record<string, Sample>>

const written: Readonly<Record<RecipeName, { readonly events: Samples }>> = samples

/** A sample without a content type is JSON. */
export const SAMPLES = Object.fromEntries(
  Object.entries(written).map(([recipe, { events }]) => [
    recipe,
    Object.fromEntries(
      Object.entries(events).map(([event, { headers, body }]) => [
        event,
        { headers: { 'content-type': 'application/json', ...headers }, body },
      ]),
    ),
  ]),
) as unknown as Readonly<Record<RecipeName, Samples>>
