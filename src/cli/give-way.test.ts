// Who gives way to the operator's own `up`: a daemon that a shim started, and no other.
import { expect, it } from 'vitest'
import type { DaemonNote } from '../config/instance/daemon-note.ts'
import { SwitchboardError } from '../contract/index.ts'
import { startInPlace } from './give-way.ts'

const NOTE = { pid: 7, url: 'http://127.0.0.1:1', startedAt: 0, version: '1' }

/** A folder that is held until the daemon was asked to end, `endsAfter` tries later. */
function held(note: (step: number) => DaemonNote | null, endsAfter = 2) {
  const ended: number[] = []
  let tries = 0
  let left = Number.POSITIVE_INFINITY
  const start = async () => {
    tries += 1
    if (left-- <= 0) return 'started'
    throw new SwitchboardError('data_folder_held', 'held')
  }
  const deps = {
    note: () => note(tries),
    end(pid: number) {
      ended.push(pid)
      left = endsAfter
    },
    pause: async () => undefined,
  }
  return { started: startInPlace(start, deps), ended, tries: () => tries }
}

it('[I14.up-keeps-folder] a daemon that a shim started is asked once to end, and up has the folder', async () => {
  const { started, ended } = held(() => ({ ...NOTE, idleExit: true }))
  expect([await started, ended]).toEqual(['started', [7]])
})

it('[I14.up-keeps-folder] so is one that was only starting when up began', async () => {
  const { started, ended } = held((step) => (step < 5 ? null : { ...NOTE, idleExit: true }))
  expect([await started, ended]).toEqual(['started', [7]])
})

it('[S6.one-daemon] a daemon that an operator started keeps its folder', async () => {
  const { started, ended, tries } = held(() => NOTE)
  await expect(started).rejects.toMatchObject({ code: 'data_folder_held' })
  expect([ended, tries()]).toEqual([[], 1])
})

it('one of which nothing is known, or that does not end, is waited for no longer than a while', async () => {
  await expect(held(() => null).started).rejects.toMatchObject({ code: 'data_folder_held' })
  const deaf = held(() => ({ ...NOTE, idleExit: true }), Number.POSITIVE_INFINITY)
  await expect(deaf.started).rejects.toMatchObject({ code: 'data_folder_held' })
  expect(deaf.ended).toEqual([7])
})
