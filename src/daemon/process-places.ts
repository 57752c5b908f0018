// Where programs of agents are kept: what they get of our environment, where it is recorded that they run, and a folder for
// each agent. What an earlier run of this data folder left behind is ended before anything starts.
import { join } from 'node:path'
import { childEnvironment } from '../config/instance/child-environment.ts'
import type { Clock, Logger, ProcessPlace } from '../contract/index.ts'

export interface ProcessPlaces {
  of(agent: string): ProcessPlace
  /** The data folder is ours alone by now: nobody else's programs are recorded there. */
  reap(): Promise<void>
}

export function createProcessPlaces(
  config: {
    /** The data folder. */
    readonly path: string
    /** Where relative folders of the configuration start. */
    readonly base: string
    readonly variables: Readonly<Record<string, string | undefined>>
  },
  deps: { readonly clock: Clock; readonly log: Logger },
): ProcessPlaces {
  const records = join(config.path, 'processes')
  // Once for all: there may be thousands of agents.
  let environment: ReturnType<typeof childEnvironment> | null = null
  return {
    of(agent) {
      environment ??= childEnvironment(config.variables)
      const folder = join(config.path, 'agents', encodeURIComponent(agent).replaceAll('.', '%2E'))
      return { environment, records, folder, base: config.base }
    },
    async reap() {
      const { existsSync } = await import('node:fs')
      if (!existsSync(records)) return
      const { reapProcesses } = await import('../kit/processes/index.ts')
      await reapProcesses(records, deps)
    },
  }
}
