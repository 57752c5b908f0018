// The guide quotes the examples exactly.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8')

it('[I16.http-examples] the guide shows the five lines of Flask, and the work of the Node agent, as they stand', () => {
  const guide = read('../../docs/guide/http-agent.md')
  const blocks = [...guide.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text = '']) => ({
    language,
    text,
  }))
  const shown = (language: string) => blocks.find((one) => one.language === language)?.text ?? 'nothing'
  expect(shown('python')).toBe(read('flask_agent.py'))
  expect(read('node-agent.mjs')).toContain(shown('js'))
})
