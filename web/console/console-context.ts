// The context of every page of the console: the signed-in person, their rights and the live stream.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { createLive, type Live } from './live.ts'

export interface Me {
  readonly user: string
  readonly roles: readonly string[]
  readonly may: readonly string[]
}

export interface ConsoleValue {
  readonly me: Me
  readonly live: Live
  readonly can: (action: string) => boolean
}

export const ConsoleContext = createContext<ConsoleValue>({
  me: { user: '', roles: [], may: [] },
  live: createLive(),
  can: () => false,
})

export function useConsole(): ConsoleValue {
  return useContext(ConsoleContext)
}
