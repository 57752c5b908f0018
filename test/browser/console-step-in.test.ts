// Conversations in the console: the list, a thread with its states, and stepping in while the daemon is killed in between.
import { expect, it } from 'vitest'
import { until } from '../faults/until.ts'
import { consoleBrowser, createConsoleScenes, goTo, violations } from './console-scene.ts'

const browser = consoleBrowser()
const begin = createConsoleScenes(browser)

it('[I21.con-conversations] [I21.con-step-in] [S15.conversations] a conversation is found, taken, written to and given back, with a kill in between', async () => {
  const at = await begin()
  const { page, complaints } = await at.enter()
  const person = at.telegram.person()
  person.says('may I?')
  await goTo(page, 'people')
  await page.getByRole('button', { name: /Let in to talk/ }).click()
  await until('paired', () => person.sees().some((text) => text.includes('You are paired')))
  person.says('I need help')
  await until('answered', () => person.sees().includes('You said: I need help'))
  await goTo(page, 'conversations')
  await page.getByLabel('Integration').selectOption('tg')
  await page.locator('.row', { hasText: 'You said: I need help' }).click()
  await page.locator('.said-in', { hasText: 'I need help' }).getByText('answered').waitFor()
  await page.locator('.said-out', { hasText: 'You said: I need help' }).getByText('sent').waitFor()
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You have this conversation.').waitFor()
  expect(await violations(page)).toEqual([])
  await at.restart()
  await page.locator('.side-foot').getByText('live', { exact: true }).waitFor()
  await page.getByLabel('Write as a person').fill('A person here: hold on.')
  await page.getByRole('button', { name: 'Send' }).click()
  await until('the person reads it', () =>
    person.sees().some((text) => text.includes('A person here: hold on.')),
  )
  person.says('thank you, person')
  await page.locator('.said-in', { hasText: 'thank you, person' }).getByText('consumed: held').waitFor()
  await page.getByRole('button', { name: 'Give back' }).click()
  await page.getByText('The agent answers here.').waitFor()
  person.says('and the agent?')
  await until('the agent is back', () => person.sees().some((text) => text.includes('and the agent?')))
  expect(person.sees().filter((text) => text.includes('A person here: hold on.'))).toHaveLength(1)
  expect(complaints).toEqual([])
})
