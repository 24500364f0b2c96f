'use strict';

const {Client} = require('./lib/client');
const {DragomanError} = require('./lib/errors');

module.exports = {Client, DragomanError};
