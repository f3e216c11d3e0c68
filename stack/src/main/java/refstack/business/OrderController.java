package refstack.business;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** The order in progress, orders and shipments. */
@RestController
@ConditionalOnApp(Part.BUSINESS)
class OrderController {

    private final Office office;
    private final Desks desks;
    private final Customers customers;
    private final Catalog catalog;
    private final Orders orders;

    OrderController(Office office, Desks desks, Customers customers, Catalog catalog,
            Orders orders) {
        this.office = office;
        this.desks = desks;
        this.customers = customers;
        this.catalog = catalog;
        this.orders = orders;
    }

    @PostMapping("/business/draft")
    ResponseEntity<byte[]> startDraft(@RequestParam("customer") int customer,
            HttpServletRequest request) {
        return office.serve(BusinessTransaction.DRAFT_START, request, (desk, page) -> {
            page.text("name", customers.name(customer)).output("customer", customer)
                    .output("lines", 0);
            return desk.with(Draft.of(customer));
        });
    }

    @PostMapping("/business/draft/lines")
    ResponseEntity<byte[]> draftLine(@RequestParam("item") int item,
            @RequestParam("quantity") int quantity, HttpServletRequest request) {
        Quantity.check(quantity);
        return office.serve(BusinessTransaction.DRAFT_LINE, request, (desk, page) -> {
            Draft before = desk.draftOrRefuse();
            Draft draft = before.with(catalog.line(item, quantity, desk.branch()));
            page.output("item", item).output("quantity", quantity);
            list(draft, page);
            return desk.with(draft);
        });
    }

    @GetMapping("/business/draft")
    ResponseEntity<byte[]> draft(HttpServletRequest request) {
        return office.read(BusinessTransaction.DRAFT, request, (desk, page) -> {
            Draft draft = desk.draftOrRefuse();
            page.output("customer", draft.customer())
                    .output("workspace", desks.workspace(request).digest());
            list(draft, page);
        });
    }

    private static void list(Draft draft, Page page) {
        page.output("lines", draft.lines().size()).money("total", draft.total())
                .table("item", List.of("Item", "Name", "Branch", "Quantity", "Price", "Total"),
                        draft.lines().stream().map(line -> List.of(line.item(), line.name(),
                                line.branch(), line.quantity(), Money.text(line.price()),
                                Money.text(line.total()))).toList());
    }

    @PostMapping("/business/orders")
    ResponseEntity<byte[]> place(@RequestParam("request") String id, HttpServletRequest request) {
        return office.serve(BusinessTransaction.PLACE_ORDER, request,
                (desk, page) -> orders.place(id, desk, page));
    }

    @GetMapping("/business/orders/{order}")
    ResponseEntity<byte[]> order(@PathVariable("order") long order, HttpServletRequest request) {
        return office.read(BusinessTransaction.ORDER, request,
                (desk, page) -> orders.show(order, page));
    }

    @GetMapping("/business/orders")
    ResponseEntity<byte[]> orders(HttpServletRequest request) {
        return office.read(BusinessTransaction.ORDERS, request,
                (desk, page) -> orders.open(desk.branch(), page));
    }

    @PostMapping("/business/shipments")
    ResponseEntity<byte[]> ship(@RequestParam("order") long order,
            @RequestParam("request") String id, HttpServletRequest request) {
        return office.read(BusinessTransaction.SHIP, request,
                (desk, page) -> orders.ship(order, id, desk, page));
    }
}
