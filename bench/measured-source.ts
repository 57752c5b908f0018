// The sources of the measured build, so that the daemon and the code that fills its database agree on the schema. They
// lie beside its dist/, which is a bundle that does not export them.
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

export interface MeasuredSource {
  readonly clock: typeof import('../src/runtime/real-clock.ts')
  readonly config: typeof import('../src/config/index.ts')
  readonly retention: typeof import('../src/gateway/retention.ts')
  readonly store: typeof import('../src/store/open.ts')
}

export async function measuredSource(entry: string): Promise<MeasuredSource> {
  // An earlier build had some of them in another place.
  const source = async (path: string, earlier = path) => {
    const at = (one: string) => new URL(`../../src/${one}`, pathToFileURL(entry))
    return import((existsSync(at(path)) ? at(path) : at(earlier)).href)
  }
  return {
    clock: await source('runtime/real-clock.ts', 'app/real-clock.ts'),
    config: await source('config/index.ts'),
    retention: await source('gateway/retention.ts', 'app/retention.ts'),
    store: await source('store/open.ts'),
  }
}
