// Looking up host names that others chose. The system's resolver has no time limit and half of the process's four
// threads: two names whose servers are dead would hold up every look-up of the process. So a name nobody here has heard
// of is first asked for without a thread; one that does not answer, or was slow before, goes a way that has room for one.
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { createBoundedMap, SwitchboardError } from '../../contract/index.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** All addresses of a host name. Throws what the resolver throws, or `platform_unavailable` when there is no room. */
export type LookUp = (host: string) => Promise<readonly ResolvedAddress[]>

export interface LookUpDeps {
  /** The system's resolver: what the operator wrote into the hosts file counts. It takes a thread. */
  readonly system: LookUp
  /** Whether the name's servers answer at all, whatever they say. It takes no thread, and not for ever. */
  readonly answers: (host: string) => Promise<boolean>
  readonly after: (delayMs: number, run: () => void) => () => void
}

const SLOW_MS = 2_000
const REMEMBERED = 1_000

export function createLookUp(deps: LookUpDeps): LookUp {
  const underway = new Map<string, Promise<readonly ResolvedAddress[]>>()
  const wasQuick = createBoundedMap<string, boolean>(REMEMBERED)
  let narrowWayTaken = false

  const ask = async (host: string) => {
    let slow = false
    const cancel = deps.after(SLOW_MS, () => {
      slow = true
      wasQuick.set(host, false)
    })
    try {
      const found = await deps.system(host)
      if (!slow) wasQuick.set(host, true)
      return found
    } finally {
      cancel()
    }
  }

  const askAlone = async (host: string) => {
    if (narrowWayTaken)
      throw new SwitchboardError('platform_unavailable', 'the host name of the URL is slow to resolve')
    narrowWayTaken = true
    try {
      return await ask(host)
    } finally {
      narrowWayTaken = false
    }
  }

  const find = async (host: string) =>
    (wasQuick.get(host) ?? (await deps.answers(host))) ? ask(host) : askAlone(host)

  return (host) => {
    const known = underway.get(host)
    if (known) return known
    const mine = find(host).finally(() => underway.delete(host))
    underway.set(host, mine)
    return mine
  }
}

/** One for the process, for so are its threads. */
export const lookUp: LookUp = createLookUp({
  system: (host) => systemLookup(host, { all: true, verbatim: true }),
  answers,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
})

/** Also of names that no name server knows: those of this machine and its neighbours are the system's to find. */
async function answers(host: string): Promise<boolean> {
  if (!host.includes('.') || /(^|\.)localhost\.?$/.test(host)) return true
  // A fresh one each time: the name servers of a laptop change.
  const resolver = new Resolver({ timeout: 1_000, tries: 2 })
  const asked = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return asked.every((one) => one.status === 'fulfilled' || !SILENT.has(codeOf(one.reason)))
}

const SILENT = new Set(['ETIMEOUT', 'ESERVFAIL'])

function codeOf(thrown: unknown): string {
  return String((thrown as NodeJS.ErrnoException).code)
}
