// Fourteen numbers in two vectors. Everything that does not wait for the step before is computed in loops of its own; the
// gates and states are kept for the way back.
#include "anchor.h"

enum { W = 14, V = 2, LAYERS = 2 };

struct Numbers {
    double8 v[V];
};
struct Cell {
    Numbers input, forget, ingate, outgate, change, before, hidden, tanh_cell;  // before: the cell's, hidden: the state's
};
static Buffer<Cell> cells_of;
static Buffer<Numbers> outputs_of, errors_of;

static inline Numbers load(const double *p) {
    Numbers x = {};
    memcpy(&x, p, W * sizeof(double));
    return x;
}

#define EACH for (int i = 0; i < V; i++)

static inline double8 logistic(double8 x) { return 1.0 / (1.0 + exp8(-x)); }
static inline double8 hyperbolic(double8 x) { return 2.0 / (1.0 + exp8(-2.0 * x)) - 1.0; }

EXPORT double anchor(const void *const *in, const int64_t *sizes, void *const *out) {
    const double *main = (const double *)in[0], *extra = (const double *)in[1], *start = (const double *)in[2];
    const double *x = (const double *)in[3];
    int64_t T = sizes[9] - 1;
    if (sizes[10] != W) return NAN;
    Cell *cells = cells_of.get(T * LAYERS);
    Numbers *outputs = outputs_of.get(T), *errors = errors_of.get(T);
    Numbers weight[LAYERS][4], bias[LAYERS][4], hidden[LAYERS], cell[LAYERS];
    for (int l = 0; l < LAYERS; l++) {
        for (int k = 0; k < 4; k++) {
            weight[l][k] = load(main + ((2 * l) * 4 + k) * W);
            bias[l][k] = load(main + ((2 * l + 1) * 4 + k) * W);
        }
        hidden[l] = load(start + (2 * l) * W);
        cell[l] = load(start + (2 * l + 1) * W);
    }
    Numbers scale_in = load(extra), scale_out = load(extra + W), shift_out = load(extra + 2 * W);
    // the gates of the first layer that depend on the input only
    for (int64_t t = 0; t < T; t++) {
        Cell &c = cells[t * LAYERS];
        Numbers u = load(x + t * W);
        EACH {
            c.input.v[i] = u.v[i] * scale_in.v[i];
            c.forget.v[i] = logistic(c.input.v[i] * weight[0][0].v[i] + bias[0][0].v[i]);
            c.outgate.v[i] = logistic(c.input.v[i] * weight[0][2].v[i] + bias[0][2].v[i]);
        }
    }
    for (int l = 0; l < LAYERS; l++) {
        if (l > 0)
            for (int64_t t = 0; t < T; t++) {
                Cell &c = cells[t * LAYERS + l];
                c.input = outputs[t];
                EACH {
                    c.forget.v[i] = logistic(c.input.v[i] * weight[l][0].v[i] + bias[l][0].v[i]);
                    c.outgate.v[i] = logistic(c.input.v[i] * weight[l][2].v[i] + bias[l][2].v[i]);
                }
            }
        Numbers h = hidden[l], s = cell[l];
        for (int64_t t = 0; t < T; t++) {
            Cell &c = cells[t * LAYERS + l];
            c.hidden = h;
            c.before = s;
            EACH {
                double8 ingate = logistic(h.v[i] * weight[l][1].v[i] + bias[l][1].v[i]);
                double8 change = hyperbolic(h.v[i] * weight[l][3].v[i] + bias[l][3].v[i]);
                s.v[i] = s.v[i] * c.forget.v[i] + ingate * change;
                double8 after = hyperbolic(s.v[i]);
                h.v[i] = c.outgate.v[i] * after;
                c.ingate.v[i] = ingate;
                c.change.v[i] = change;
                c.tanh_cell.v[i] = after;
            }
            outputs[t] = h;
        }
    }
    // the loss, and its gradient by the outputs
    const double8 mask[V] = {all8(1.0), {1, 1, 1, 1, 1, 1, 0, 0}};
    double total = 0.0, by = -1.0 / (T * W);
    Numbers g_scale_in = {}, g_scale_out = {}, g_shift_out = {};
    for (int64_t t = 0; t < T; t++) {
        Numbers wanted = load(x + (t + 1) * W), guess, power;
        double8 sum = {}, whole = {}, dot = {};
        EACH {
            guess.v[i] = outputs[t].v[i] * scale_out.v[i] + shift_out.v[i];
            power.v[i] = exp8(guess.v[i]) * mask[i];
            sum += power.v[i];
            whole += wanted.v[i];
            dot += wanted.v[i] * guess.v[i];
        }
        double inside = 2.0 + sum8(sum), all = sum8(whole);
        total += sum8(dot) - all * log(inside);
        double share = all / inside;
        EACH {
            double8 g = by * (wanted.v[i] - share * power.v[i]);
            g_shift_out.v[i] += g;
            g_scale_out.v[i] += g * outputs[t].v[i];
            errors[t].v[i] = g * scale_out.v[i];
        }
    }
    double *g_main = (double *)out[0], *g_extra = (double *)out[1];
    for (int l = LAYERS - 1; l >= 0; l--) {
        Numbers gw[4] = {}, gb[4] = {}, gh = {}, gs = {};
        for (int64_t t = T; t-- > 0;) {
            const Cell &c = cells[t * LAYERS + l];
            EACH {
                double8 g = errors[t].v[i] + gh.v[i];
                double8 g_out = g * c.tanh_cell.v[i] * c.outgate.v[i] * (1.0 - c.outgate.v[i]);
                double8 s = gs.v[i] + g * c.outgate.v[i] * (1.0 - c.tanh_cell.v[i] * c.tanh_cell.v[i]);
                double8 g_forget = s * c.before.v[i] * c.forget.v[i] * (1.0 - c.forget.v[i]);
                double8 g_in = s * c.change.v[i] * c.ingate.v[i] * (1.0 - c.ingate.v[i]);
                double8 g_change = s * c.ingate.v[i] * (1.0 - c.change.v[i] * c.change.v[i]);
                gs.v[i] = s * c.forget.v[i];
                gh.v[i] = g_in * weight[l][1].v[i] + g_change * weight[l][3].v[i];
                double8 g_input = g_forget * weight[l][0].v[i] + g_out * weight[l][2].v[i];
                errors[t].v[i] = g_input;  // for the layer below
                gw[0].v[i] += g_forget * c.input.v[i];
                gw[1].v[i] += g_in * c.hidden.v[i];
                gw[2].v[i] += g_out * c.input.v[i];
                gw[3].v[i] += g_change * c.hidden.v[i];
                gb[0].v[i] += g_forget;
                gb[1].v[i] += g_in;
                gb[2].v[i] += g_out;
                gb[3].v[i] += g_change;
            }
        }
        for (int k = 0; k < 4; k++) {
            memcpy(g_main + ((2 * l) * 4 + k) * W, &gw[k], W * sizeof(double));
            memcpy(g_main + ((2 * l + 1) * 4 + k) * W, &gb[k], W * sizeof(double));
        }
    }
    for (int64_t t = 0; t < T; t++) {
        Numbers u = load(x + t * W);
        EACH g_scale_in.v[i] += errors[t].v[i] * u.v[i];
    }
    memcpy(g_extra, &g_scale_in, W * sizeof(double));
    memcpy(g_extra + W, &g_scale_out, W * sizeof(double));
    memcpy(g_extra + 2 * W, &g_shift_out, W * sizeof(double));
    return by * total;
}
