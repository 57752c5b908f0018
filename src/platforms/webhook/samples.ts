// Samples by recipe: events from each sender's documentation, shortened, with names replaced. `hooks test` sends them,
// and tests read them. They contain no proof, which is made when a sample is sent.
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
