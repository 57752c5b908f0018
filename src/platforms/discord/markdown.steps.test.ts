// The renderer of Discord's Markdown, in linear steps whatever the tree is.
import { describeRenderer } from '../../testing/renderer-suite.ts'
import { discordMarkdown } from './markdown.ts'

describeRenderer('discord', discordMarkdown)
