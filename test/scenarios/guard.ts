// One life of a gateway. When it crashes, nothing that it began reaches the world any more: its timers, its store, its
// platforms and its agents fall silent, as they would under kill -9.
import type {
  AgentConnector,
  Clock,
  ConnectorDeps,
  PlatformAdapter,
  PlatformDeps,
  Store,
} from '../../src/contract/index.ts'
import { SwitchboardError } from '../../src/contract/index.ts'

/** What a gateway makes adapters with, at once. */
export interface PlatformMaker {
  create(deps: PlatformDeps): PlatformAdapter
}

export interface ConnectorMaker {
  create(deps: ConnectorDeps): AgentConnector
}

export interface Life {
  readonly dead: () => boolean
  end(): void
  clock(base: Clock): Clock
  store(store: Store): Store
  platform(module: PlatformMaker): PlatformMaker
  connector(module: ConnectorMaker): ConnectorMaker
  /** Store calls under way. */
  busy(): number
  /** Grows whenever something happens. */
  moved(): number
  /** The next `times` calls of a store's verb fail as if the database were away. */
  storeAway(verb: keyof Store, times: number): void
  /** The next `times` calls are done, and nobody hears of it: the connection broke behind the commit. */
  loseAnswer(verb: keyof Store, times: number): void
  /** The next answer of a verb that is done comes late: when the returned function is called. */
  delayAnswer(verb: keyof Store): () => void
  /** The connection that listens is gone: hints are not heard, until it is back and says that some were missed. */
  hear(hints: boolean): void
}

const NEVER = new Promise<never>(() => undefined)

export function createLife(timers: { due: Set<number[]>; now: () => number }): Life {
  let dead = false
  let busy = 0
  let moved = 0
  const away = new Map<string, number>()
  const unheard = new Map<string, number>()
  const late = new Map<string, Promise<void>>()
  let deaf = false
  const listeners: ((hint: unknown, from: unknown) => void)[] = []

  // A promise of a dead life never settles: whoever waits for it is dead, too.
  const watched = async (work: () => unknown): Promise<unknown> => {
    if (dead) return NEVER
    busy += 1
    moved += 1
    try {
      const result = await work()
      return dead ? NEVER : result
    } catch (thrown) {
      if (dead) return NEVER
      throw thrown
    } finally {
      busy -= 1
      moved += 1
    }
  }

  const muted = <T extends object>(target: T, names: readonly string[]): T =>
    new Proxy(target, {
      get(of, name, receiver) {
        const value = Reflect.get(of, name, receiver) as unknown
        if (typeof value !== 'function' || typeof name !== 'string') return value
        const call = value as (...args: unknown[]) => unknown
        if (!names.includes(name)) return (...args: unknown[]) => (dead ? undefined : call.apply(of, args))
        return async (...args: unknown[]) => {
          if (dead) return NEVER
          moved += 1
          const result = await call.apply(of, args)
          moved += 1
          return dead ? NEVER : result
        }
      },
    })

  return {
    dead: () => dead,
    end() {
      dead = true
    },
    clock: (base) => ({
      now: () => base.now(),
      after(delayMs, run) {
        const mark = [timers.now() + Math.max(0, delayMs)]
        timers.due.add(mark)
        const cancel = base.after(delayMs, () => {
          timers.due.delete(mark)
          if (!dead) run()
        })
        return () => {
          timers.due.delete(mark)
          cancel()
        }
      },
    }),
    store: (store) =>
      new Proxy(store, {
        get(of, name, receiver) {
          const value = Reflect.get(of, name, receiver) as unknown
          if (typeof value !== 'function' || typeof name !== 'string') return value
          if (name === 'onHint') {
            return (listen: (hint: unknown, from: unknown) => void) => {
              listeners.push(listen)
              of.onHint((hint, from) => (dead || deaf ? undefined : listen(hint, from)))
            }
          }
          if (name === 'onCommit') {
            return (listen: Parameters<Store['onCommit']>[0]) =>
              of.onCommit((hints) => (dead || deaf ? undefined : listen(hints)))
          }
          const call = value as (...args: unknown[]) => unknown
          return async (...args: unknown[]) => {
            const delay = late.get(name)
            late.delete(name)
            const result = await watched(() => {
              const left = away.get(name) ?? 0
              const lost = unheard.get(name) ?? 0
              if (left === 0 && lost === 0) return call.apply(of, args)
              const failure = new SwitchboardError('store_unavailable', 'the database is away')
              if (left > 0) {
                away.set(name, left - 1)
                throw failure
              }
              unheard.set(name, lost - 1)
              return Promise.resolve(call.apply(of, args)).then(() => {
                throw failure
              })
            })
            if (delay) await delay
            return result
          }
        },
      }),
    platform: (module) => ({
      ...module,
      create: (deps) =>
        muted(module.create(deps), ['send', 'showStatus', 'removeStatus', 'reconcile', 'start', 'stop']),
    }),
    connector: (module) => ({
      ...module,
      create: (deps) => muted(module.create(deps), ['deliver', 'verdict', 'cancel', 'start', 'stop']),
    }),
    busy: () => busy,
    moved: () => moved,
    storeAway: (verb, times) => void away.set(verb, times),
    loseAnswer: (verb, times) => void unheard.set(verb, times),
    delayAnswer(verb) {
      let release: () => void = () => undefined
      late.set(
        verb,
        new Promise((resolve) => {
          release = resolve
        }),
      )
      return release
    },
    hear(hints) {
      deaf = !hints
      if (hints) for (const listen of listeners) listen({ kind: 'missed' }, null)
    },
  }
}
