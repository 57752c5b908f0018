// One life of a gateway. After a crash nothing that it began reaches the world. Its timers, its store, its platforms
// and its agents stop, as after kill -9.
import type {
  AgentConnector,
  Clock,
  ConnectorDeps,
  PlatformAdapter,
  PlatformDeps,
  Store,
} from '../../src/contract/index.ts'
import { SwitchboardError } from '../../src/contract/index.ts'

/** A gateway makes its adapters with this, synchronously. */
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
  /** The number of store calls in progress. */
  busy(): number
  /** A count that grows whenever something happens. */
  moved(): number
  /** Makes the next `times` calls of a store method fail as if the database were away. */
  storeAway(verb: keyof Store, times: number): void
  /** Runs the next `times` calls but loses their answers, as when the connection breaks after the commit. */
  loseAnswer(verb: keyof Store, times: number): void
  /** Runs the next call of a method but delays its answer until the returned function is called. */
  delayAnswer(verb: keyof Store): () => void
  /** False breaks the listening connection, so no hints arrive. True restores it and reports missed hints. */
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

  // A promise of a dead life never settles, because the code that waits for it is dead too.
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
