// The sources of the build that is measured, so that what fills a database and the daemon agree on its schema: they lie beside
// its dist/, which is a bundle and has no doors for them.
import { pathToFileURL } from 'node:url'

export interface MeasuredSource {
  readonly clock: typeof import('../src/app/real-clock.ts')
  readonly config: typeof import('../src/config/index.ts')
  readonly retention: typeof import('../src/app/retention.ts')
  readonly store: typeof import('../src/store/open.ts')
}

export async function measuredSource(entry: string): Promise<MeasuredSource> {
  const source = (path: string) => import(new URL(`../../src/${path}`, pathToFileURL(entry)).href)
  return {
    clock: await source('app/real-clock.ts'),
    config: await source('config/index.ts'),
    retention: await source('app/retention.ts'),
    store: await source('store/open.ts'),
  }
}
